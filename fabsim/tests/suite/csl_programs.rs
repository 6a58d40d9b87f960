//! Whole programs of the kind a compiler emits: a layout with a module of its own that gives every PE
//! its routes and a struct of parameters, and a PE program in two modules.

use crate::csl_support::*;
use fabsim::csl::CompileOptions;
use fabsim::program::*;

const LAYOUT: &str = r#"
param width: u16;
param B: u16;
const chain = @import_module("chain_layout.csl", .{ .even = @get_color(0), .odd = @get_color(1) });
const memcpy = @import_module("<memcpy/get_params>", .{ .width = width, .height = 1 });
layout {
  @set_rectangle(width, 1);
  for (@range(u16, width)) |x| {
    chain.configure(x, 0);
    @set_tile_code(x, 0, "pe.csl", .{
      .memcpy_params = memcpy.get_params(x), .chain_params = chain.get_params(x), .B = B,
    });
  }
  @export_name("x", [*]f32, true);
  @export_name("run", fn()void);
}
"#;

const CHAIN_LAYOUT: &str = r#"
param even: color;
param odd: color;
const Role = struct { stored: u16, sends: bool, receive: color, send: color };
fn first(x: u16) bool { return x == 0; }
fn configure(x: u16, y: u16) void {
  if (first(x)) {
    @set_color_config(x, y, even, .{ .routes = .{ .rx = .{ EAST }, .tx = .{ RAMP } } });
  } else {
    @set_color_config(x, y, even, .{
      .routes = .{ .rx = .{ RAMP }, .tx = .{ WEST } },
      .switches = .{ .pos1 = .{ .rx = EAST } },
    });
  }
}
fn get_params(x: u16) Role {
  if (first(x)) {
    return Role{ .stored = 3, .sends = false, .receive = even, .send = odd };
  }
  return Role{ .stored = 0, .sends = true, .receive = odd, .send = even };
}
"#;

const PE: &str = r#"
param memcpy_params;
param chain_params;
param B: u16;
const sys = @import_module("<memcpy/memcpy>", memcpy_params);
const done_id: local_task_id = @get_local_task_id(8);
const chain = @import_module("chain_pe.csl", .{
  .role = chain_params, .done = done_id, .queues = [2]u16{ 2, 3 }, .length = B,
  .ids = [1]local_task_id{ @get_local_task_id(9) },
});
var x = @zeros([B]f32);
var x_ptr: [*]f32 = &x;
fn run() void { chain.run(x_ptr); }
task finish() void { sys.unblock_cmd_stream(); }
comptime {
  @bind_local_task(finish, done_id);
  @export_symbol(x_ptr, "x");
  @export_symbol(run);
}
"#;

const CHAIN_PE: &str = r#"
param role;
param done: local_task_id;
param queues: [2]u16;
param ids: [1]local_task_id;
param length: u16 = 256;
const control = @import_module("<control>");
const in_queue = @get_input_queue(queues[0]);
const out_queue = @get_output_queue(queues[1]);
const stored_id: local_task_id = ids[0];
const unset = @zeros([1]f32);
var vectors = @get_dsd(mem4d_dsd, .{
  .base_address = &unset, .extent = .{ role.stored, length }, .stride = .{ 1, -(@as(i16, length) - 1) },
});
var vector = @get_dsd(mem1d_dsd, .{ .base_address = &unset, .extent = length });
const in = @get_dsr(dsr_src1, 1);
const out = @get_dsd(fabout_dsd, if (@is_arch("wse3")) .{ .extent = length, .output_queue = out_queue }
  else .{ .extent = length, .fabric_color = role.send, .output_queue = out_queue, .advance_switch = true });
const last = control.encode_single_payload(control.opcode.SWITCH_ADV, true, {}, 0);
const last_out = @get_dsd(fabout_dsd, if (@is_arch("wse3")) .{ .extent = 1, .control = true, .output_queue = out_queue }
  else .{ .extent = 1, .control = true, .fabric_color = role.send, .output_queue = out_queue });
fn run(buffer: [*]f32) void {
  vectors = @set_dsd_base_addr(vectors, buffer);
  vector = @set_dsd_base_addr(vector, buffer);
  if (role.stored > 0) {
    @fadds(vectors, vectors, in, .{ .async = true });
  } else {
    @fmovs(out, vector, .{ .async = true });
    @mov32(last_out, last, .{ .async = true, .activate = done });
  }
}
task stored() void { @activate(done); }
comptime {
  @comptime_assert(length <= 32766, "a DSD counts at most 32766 elements");
  if (role.stored > 0) {
    @initialize_queue(in_queue, .{ .color = role.receive });
    @bind_local_task(stored, stored_id);
    @load_to_dsr(in, @get_dsd(fabin_dsd, .{ .extent = role.stored * length, .input_queue = in_queue }),
      .{ .async = true, .activate = stored_id });
  } else {
    @initialize_queue(out_queue, if (@is_arch("wse3")) .{ .color = role.send } else .{});
  }
}
"#;

fn chain(arch: Arch, width: i64, length: i64) -> Result<Design, String> {
    let mut options = CompileOptions::new(arch);
    options.params = vec![("width".into(), width), ("B".into(), length)];
    let files = [
        ("dir/layout.csl", LAYOUT),
        ("dir/chain_layout.csl", CHAIN_LAYOUT),
        ("dir/pe.csl", PE),
        ("dir/chain_pe.csl", CHAIN_PE),
    ];
    compile(&files, &options)
}

#[test]
fn equal_roles_share_one_program_and_one_router() {
    for arch in BOTH {
        let design = accepts(chain(arch, 4, 256));
        assert_eq!((design.width, design.height), (4, 1));
        assert_eq!(design.programs.len(), 2);
        assert_eq!(design.routers.len(), 2);
        let programs: Vec<u32> = design.tiles.iter().map(|tile| tile.program).collect();
        assert_eq!(programs, [0, 1, 1, 1]);
        assert_eq!(design.exports.len(), 2);
        assert_eq!(design.params[1], ("B".to_string(), "256".to_string()));
    }
}

#[test]
fn registers_queues_and_tasks_are_set_as_declared() {
    let design = accepts(chain(Arch::Wse2, 4, 256));
    let root = &design.programs[0];
    let tasks: Vec<(TaskKind, u8)> = root.tasks.iter().map(|task| (task.kind, task.id)).collect();
    assert_eq!(tasks, [(TaskKind::Local, 8), (TaskKind::Local, 9)]);
    assert_eq!(root.dsrs.len(), 1);
    assert_eq!(
        (root.dsrs[0].dsd.extent, root.dsrs[0].activate),
        (768, Some(9))
    );
    assert_eq!(
        root.input_queues[2].as_ref().map(|queue| queue.color),
        Some(0)
    );
    let strides = DsdShape::Mem4d {
        element_bytes: 4,
        extents: vec![3, 256],
        strides: vec![-255, 1],
        wavelet_index_offset: false,
    };
    assert!(root.shapes.contains(&strides));
    let leaf = &design.programs[1];
    assert_eq!(leaf.tasks.len(), 1);
    assert!(leaf.output_queues[3].is_some() && leaf.input_queues[2].is_none());
}

#[test]
fn a_failing_assertion_shows_its_text_and_place() {
    refuses(chain(Arch::Wse2, 2, 32767), "dir/chain_pe.csl:34:3: error");
    refuses(
        chain(Arch::Wse2, 2, 32767),
        "a DSD counts at most 32766 elements",
    );
}

#[test]
fn compiling_twice_gives_the_same_design() {
    let show = || format!("{:?}", accepts(chain(Arch::Wse3, 5, 64)));
    assert_eq!(show(), show());
}

#[test]
fn layout_modules_and_coordinates_are_found_by_the_pe() {
    let pe = "const l = @import_module(\"<layout>\"); const t = @import_module(\"<time>\"); var s = @zeros([3]u16); var g: u16;";
    let design = accepts(run_body(
        Arch::Wse2,
        pe,
        "g = l.get_x_coord(); t.enable_tsc(); t.get_timestamp(&s);",
    ));
    let calls = design.programs[0]
        .functions
        .iter()
        .flat_map(|function| &function.code);
    let natives = calls
        .filter(|inst| matches!(inst, Inst::System { .. }))
        .count();
    assert_eq!(natives, 3);
    refuses(
        run_body(Arch::Wse2, "", "@fabsim_system(\"enable_tsc\");"),
        "does not know the builtin",
    );
}
