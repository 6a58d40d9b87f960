// What views draw with: a canvas, or the text of an SVG file.

export interface TextStyle {
  color: string;
  size?: number;
  align?: "left" | "center" | "right";
  bold?: boolean;
  mono?: boolean;
}

export interface Pen {
  rect(x: number, y: number, width: number, height: number, fill: string, radius?: number): void;
  frame(x: number, y: number, width: number, height: number, stroke: string, line?: number, radius?: number): void;
  line(points: number[], stroke: string, width: number, dash?: number[]): void;
  fill(points: number[], fill: string): void;
  circle(x: number, y: number, radius: number, fill: string): void;
  ring(x: number, y: number, radius: number, stroke: string, width: number): void;
  text(text: string, x: number, y: number, style: TextStyle): void;
  /** Many of one paint at once: lines from (x, y) to (x, y), squares and dots around (x, y). */
  segments(points: number[], stroke: string, width: number): void;
  squares(points: number[], side: number, fill: string, radius?: number): void;
  dots(points: number[], radius: number, fill: string): void;
  image(image: HTMLCanvasElement, x: number, y: number, width: number, height: number): void;
  clipped(x: number, y: number, width: number, height: number, draw: () => void): void;
  faded(alpha: number, draw: () => void): void;
}

export const SANS = 'Inter, ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
export const MONO = 'ui-monospace, "SF Mono", "JetBrains Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';

function font({ size = 12, bold = false, mono = false }: TextStyle): string {
  return `${bold ? "600 " : ""}${size}px ${mono ? MONO : SANS}`;
}

export class CanvasPen implements Pen {
  constructor(private readonly to: CanvasRenderingContext2D) {}

  rect(x: number, y: number, width: number, height: number, fill: string, radius = 0): void {
    this.to.fillStyle = fill;
    if (radius < 1) return this.to.fillRect(x, y, width, height);
    this.to.beginPath();
    this.to.roundRect(x, y, width, height, radius);
    this.to.fill();
  }

  frame(x: number, y: number, width: number, height: number, stroke: string, line = 1, radius = 0): void {
    this.to.strokeStyle = stroke;
    this.to.lineWidth = line;
    this.to.setLineDash([]);
    this.to.beginPath();
    this.to.roundRect(x, y, width, height, radius);
    this.to.stroke();
  }

  line(points: number[], stroke: string, width: number, dash: number[] = []): void {
    this.trace(points);
    this.to.strokeStyle = stroke;
    this.to.lineWidth = width;
    this.to.lineJoin = "round";
    this.to.lineCap = dash.length ? "butt" : "round";
    this.to.setLineDash(dash);
    this.to.stroke();
  }

  fill(points: number[], fill: string): void {
    this.trace(points);
    this.to.fillStyle = fill;
    this.to.fill();
  }

  circle(x: number, y: number, radius: number, fill: string): void {
    this.to.fillStyle = fill;
    this.to.beginPath();
    this.to.arc(x, y, radius, 0, Math.PI * 2);
    this.to.fill();
  }

  ring(x: number, y: number, radius: number, stroke: string, width: number): void {
    this.to.strokeStyle = stroke;
    this.to.lineWidth = width;
    this.to.setLineDash([]);
    this.to.beginPath();
    this.to.arc(x, y, radius, 0, Math.PI * 2);
    this.to.stroke();
  }

  text(text: string, x: number, y: number, style: TextStyle): void {
    this.to.font = font(style);
    this.to.fillStyle = style.color;
    this.to.textAlign = style.align ?? "left";
    this.to.textBaseline = "middle";
    this.to.fillText(text, x, y);
  }

  segments(points: number[], stroke: string, width: number): void {
    this.to.beginPath();
    for (let n = 0; n < points.length; n += 4) {
      this.to.moveTo(points[n], points[n + 1]);
      this.to.lineTo(points[n + 2], points[n + 3]);
    }
    this.to.strokeStyle = stroke;
    this.to.lineWidth = width;
    this.to.setLineDash([]);
    this.to.stroke();
  }

  squares(points: number[], side: number, fill: string, radius = 0): void {
    this.to.fillStyle = fill;
    this.to.beginPath();
    for (let n = 0; n < points.length; n += 2) {
      const [x, y] = [points[n] - side / 2, points[n + 1] - side / 2];
      if (radius < 2.5) this.to.rect(x, y, side, side);
      else this.to.roundRect(x, y, side, side, radius);
    }
    this.to.fill();
  }

  dots(points: number[], radius: number, fill: string): void {
    this.to.fillStyle = fill;
    this.to.beginPath();
    for (let n = 0; n < points.length; n += 2) {
      const [x, y] = [points[n], points[n + 1]];
      if (radius < 2.5) {
        this.to.rect(x - radius, y - radius, 2 * radius, 2 * radius);
        continue;
      }
      this.to.moveTo(x + radius, y);
      this.to.arc(x, y, radius, 0, Math.PI * 2);
    }
    this.to.fill();
  }

  image(image: HTMLCanvasElement, x: number, y: number, width: number, height: number): void {
    this.to.imageSmoothingEnabled = false;
    this.to.drawImage(image, x, y, width, height);
  }

  clipped(x: number, y: number, width: number, height: number, draw: () => void): void {
    this.to.save();
    this.to.beginPath();
    this.to.rect(x, y, width, height);
    this.to.clip();
    draw();
    this.to.restore();
  }

  faded(alpha: number, draw: () => void): void {
    this.to.save();
    this.to.globalAlpha = alpha;
    draw();
    this.to.restore();
  }

  private trace(points: number[]): void {
    this.to.beginPath();
    this.to.moveTo(points[0], points[1]);
    for (let n = 2; n < points.length; n += 2) this.to.lineTo(points[n], points[n + 1]);
  }
}

const round = (value: number) => Math.round(value * 100) / 100;

export function escaped(text: string): string {
  const names: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return text.replace(/[&<>"']/g, (sign) => names[sign]);
}

export class SvgPen implements Pen {
  private readonly parts: string[] = [];
  private clips = 0;

  rect(x: number, y: number, width: number, height: number, fill: string, radius = 0): void {
    this.box(x, y, width, height, `fill="${fill}"`, radius);
  }

  frame(x: number, y: number, width: number, height: number, stroke: string, line = 1, radius = 0): void {
    this.box(x, y, width, height, `fill="none" stroke="${stroke}" stroke-width="${line}"`, radius);
  }

  line(points: number[], stroke: string, width: number, dash: number[] = []): void {
    const how = dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : ' stroke-linecap="round"';
    const paint = `fill="none" stroke="${stroke}" stroke-width="${round(width)}" stroke-linejoin="round"`;
    this.parts.push(`<polyline points="${points.map(round).join(" ")}" ${paint}${how}/>`);
  }

  fill(points: number[], fill: string): void {
    this.parts.push(`<polygon points="${points.map(round).join(" ")}" fill="${fill}"/>`);
  }

  circle(x: number, y: number, radius: number, fill: string): void {
    this.parts.push(`<circle cx="${round(x)}" cy="${round(y)}" r="${round(radius)}" fill="${fill}"/>`);
  }

  ring(x: number, y: number, radius: number, stroke: string, width: number): void {
    const paint = `fill="none" stroke="${stroke}" stroke-width="${width}"`;
    this.parts.push(`<circle cx="${round(x)}" cy="${round(y)}" r="${round(radius)}" ${paint}/>`);
  }

  text(text: string, x: number, y: number, style: TextStyle): void {
    const anchor = { left: "start", center: "middle", right: "end" }[style.align ?? "left"];
    const family = escaped(style.mono ? MONO : SANS);
    const weight = style.bold ? ' font-weight="600"' : "";
    this.parts.push(
      `<text x="${round(x)}" y="${round(y)}" fill="${style.color}" font-family="${family}" ` +
        `font-size="${style.size ?? 12}"${weight} text-anchor="${anchor}" dominant-baseline="central">` +
        `${escaped(text)}</text>`,
    );
  }

  segments(points: number[], stroke: string, width: number): void {
    let path = "";
    for (let n = 0; n < points.length; n += 4) {
      path += `M${round(points[n])} ${round(points[n + 1])}L${round(points[n + 2])} ${round(points[n + 3])}`;
    }
    this.parts.push(`<path d="${path}" fill="none" stroke="${stroke}" stroke-width="${round(width)}"/>`);
  }

  squares(points: number[], side: number, fill: string, radius = 0): void {
    for (let n = 0; n < points.length; n += 2) {
      this.rect(points[n] - side / 2, points[n + 1] - side / 2, side, side, fill, radius);
    }
  }

  dots(points: number[], radius: number, fill: string): void {
    for (let n = 0; n < points.length; n += 2) this.circle(points[n], points[n + 1], radius, fill);
  }

  image(image: HTMLCanvasElement, x: number, y: number, width: number, height: number): void {
    const place = `x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}"`;
    const how = 'preserveAspectRatio="none" style="image-rendering:pixelated"';
    this.parts.push(`<image ${place} ${how} href="${image.toDataURL()}"/>`);
  }

  clipped(x: number, y: number, width: number, height: number, draw: () => void): void {
    const id = `clip-${this.clips++}`;
    this.parts.push(`<clipPath id="${id}">`);
    this.box(x, y, width, height, "", 0);
    this.parts.push(`</clipPath><g clip-path="url(#${id})">`);
    draw();
    this.parts.push("</g>");
  }

  faded(alpha: number, draw: () => void): void {
    this.parts.push(`<g opacity="${alpha}">`);
    draw();
    this.parts.push("</g>");
  }

  /** The whole file. */
  file(width: number, height: number): string {
    const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${size}>\n${this.parts.join("\n")}\n</svg>\n`;
  }

  private box(x: number, y: number, width: number, height: number, paint: string, radius: number): void {
    const place = `x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}"`;
    this.parts.push(`<rect ${place} ${paint}${radius ? ` rx="${radius}"` : ""}/>`);
  }
}
