//! The standard modules, written in CSL and embedded. Where a module is hardware or host, it reaches
//! it through `@fabsim_system`, which only these modules may use.

/// Names and texts.
pub const MODULES: &[(&str, &str)] = &[
    (
        "memcpy/get_params",
        include_str!("../../library/get_params.csl"),
    ),
    ("memcpy/memcpy", include_str!("../../library/memcpy.csl")),
    (
        "memcpy/memcpy_switches",
        include_str!("../../library/memcpy_switches.csl"),
    ),
    ("control", include_str!("../../library/control.csl")),
    ("time", include_str!("../../library/time.csl")),
    ("timer", include_str!("../../library/timer.csl")),
    ("layout", include_str!("../../library/layout.csl")),
    ("directions", include_str!("../../library/directions.csl")),
    ("math", include_str!("../../library/math.csl")),
    (
        "collectives_2d/params",
        include_str!("../../library/collectives_params.csl"),
    ),
    (
        "collectives_2d/pe",
        include_str!("../../library/collectives_pe.csl"),
    ),
    ("complex", include_str!("../../library/complex.csl")),
    ("dsd_ops", include_str!("../../library/dsd_ops.csl")),
    (
        "kernels/fft/fft3d_layout",
        include_str!("../../library/fft3d_layout.csl"),
    ),
    ("kernels/fft/fft3d", include_str!("../../library/fft3d.csl")),
    (
        "kernels/tally/layout",
        include_str!("../../library/tally_layout.csl"),
    ),
    (
        "kernels/tally/pe",
        include_str!("../../library/tally_pe.csl"),
    ),
    ("malloc", include_str!("../../library/malloc.csl")),
    ("random", include_str!("../../library/random.csl")),
    ("debug", include_str!("../../library/debug.csl")),
    ("simprint", include_str!("../../library/simprint.csl")),
    ("tile_config", include_str!("../../library/tile_config.csl")),
    (
        "tile_config/color_config",
        include_str!("../../library/tile_config_color_config.csl"),
    ),
    (
        "tile_config/switch_config",
        include_str!("../../library/tile_config_switch_config.csl"),
    ),
    (
        "tile_config/teardown",
        include_str!("../../library/tile_config_teardown.csl"),
    ),
    (
        "tile_config/filters",
        include_str!("../../library/tile_config_filters.csl"),
    ),
    (
        "tile_config/queue_flush",
        include_str!("../../library/tile_config_queue_flush.csl"),
    ),
    (
        "tile_config/input_queue_config",
        include_str!("../../library/tile_config_input_queue_config.csl"),
    ),
    (
        "tile_config/output_queue_config",
        include_str!("../../library/tile_config_output_queue_config.csl"),
    ),
    (
        "tile_config/queue_status",
        include_str!("../../library/tile_config_queue_status.csl"),
    ),
    (
        "tile_config/task_priority",
        include_str!("../../library/tile_config_task_priority.csl"),
    ),
    (
        "tile_config/main_thread_priority",
        include_str!("../../library/tile_config_main_thread_priority.csl"),
    ),
    ("empty", ""),
];

/// The name of a standard module that a program may call by an older one: the pages of the first
/// releases import `<memcpy_multi/get_params>` with the fields that `<memcpy/get_params>` takes.
pub fn canonical(name: &str) -> String {
    match name.strip_prefix("memcpy_multi/") {
        Some(inner) => format!("memcpy/{inner}"),
        None => name.to_string(),
    }
}

/// The text of `<name>`.
pub fn source(name: &str) -> Option<&'static str> {
    let module = MODULES.iter().find(|(known, _)| *known == name);
    module.map(|(_, text)| *text)
}
