//! The standard modules, written in CSL and embedded. Where a module is hardware or host, it reaches
//! it through `@fabsim_system`, which only these modules may use.

/// The text of `<name>`.
pub fn source(name: &str) -> Option<&'static str> {
    Some(match name {
        "memcpy/get_params" => include_str!("std/get_params.csl"),
        "memcpy/memcpy" => include_str!("std/memcpy.csl"),
        "memcpy/memcpy_switches" => include_str!("std/memcpy_switches.csl"),
        "control" => include_str!("std/control.csl"),
        "time" => include_str!("std/time.csl"),
        "timer" => include_str!("std/timer.csl"),
        "layout" => include_str!("std/layout.csl"),
        "directions" => include_str!("std/directions.csl"),
        "math" => include_str!("std/math.csl"),
        "collectives_2d/params" => include_str!("std/collectives_params.csl"),
        "collectives_2d/pe" => include_str!("std/collectives_pe.csl"),
        "complex" => include_str!("std/complex.csl"),
        "dsd_ops" => include_str!("std/dsd_ops.csl"),
        "kernels/fft/fft3d_layout" => include_str!("std/fft3d_layout.csl"),
        "kernels/fft/fft3d" => include_str!("std/fft3d.csl"),
        "kernels/tally/layout" => include_str!("std/tally_layout.csl"),
        "kernels/tally/pe" => include_str!("std/tally_pe.csl"),
        "malloc" => include_str!("std/malloc.csl"),
        "random" => include_str!("std/random.csl"),
        "debug" => include_str!("std/debug.csl"),
        "simprint" => include_str!("std/simprint.csl"),
        "tile_config" => include_str!("std/tile_config.csl"),
        "tile_config/color_config" => include_str!("std/tile_config_color_config.csl"),
        "tile_config/switch_config" => include_str!("std/tile_config_switch_config.csl"),
        "tile_config/teardown" => include_str!("std/tile_config_teardown.csl"),
        "tile_config/queue_flush" => include_str!("std/tile_config_queue_flush.csl"),
        "tile_config/input_queue_config" => include_str!("std/tile_config_input_queue_config.csl"),
        "tile_config/output_queue_config" => {
            include_str!("std/tile_config_output_queue_config.csl")
        }
        "tile_config/queue_status" => include_str!("std/tile_config_queue_status.csl"),
        "tile_config/task_priority" => include_str!("std/tile_config_task_priority.csl"),
        "tile_config/main_thread_priority" => {
            include_str!("std/tile_config_main_thread_priority.csl")
        }
        "empty" => "",
        _ => return None,
    })
}
