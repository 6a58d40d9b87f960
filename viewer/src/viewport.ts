// Where a drawing lies on the stage: a scale, and the point that is at the top left.

export class Viewport {
  scale = 1;
  x = 0;
  y = 0;
  private fitted = false;

  constructor(
    private readonly least: number,
    private readonly most: number,
  ) {}

  /** Shows a drawing of this size in the middle, once or whenever `again`. */
  fit(width: number, height: number, stage: { width: number; height: number; top?: number; left?: number }, again = false): void {
    if (this.fitted && !again) return;
    const { top = 0, left = 0 } = stage;
    const room = { width: stage.width - left - 64, height: stage.height - top - 64 };
    const scale = Math.min(room.width / width, room.height / height);
    this.scale = Math.max(Math.min(scale, this.most, 120), Math.min(this.least, scale));
    this.x = (width * this.scale - stage.width - left) / 2;
    this.y = (height * this.scale - stage.height - top) / 2;
    this.fitted = true;
  }

  unfit(): void {
    this.fitted = false;
  }

  zoom(factor: number, atX: number, atY: number): void {
    const scale = Math.max(Math.min(this.scale, this.least), Math.min(this.most, this.scale * factor));
    this.x = ((this.x + atX) * scale) / this.scale - atX;
    this.y = ((this.y + atY) * scale) / this.scale - atY;
    this.scale = scale;
  }

  move(dx: number, dy: number): void {
    this.x -= dx;
    this.y -= dy;
  }
}
