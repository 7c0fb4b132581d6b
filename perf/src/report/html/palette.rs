//! The colours of the plots and of the page, each in two shades: for light and for dark
//! backgrounds.
//!
//! `plotters` draws with the light shade. CSS rules select elements by that value and map it to a
//! custom property in the page, or to the dark shade in a separate file. So each light shade occurs
//! once. The series use the colours of Okabe and Ito, which are distinct with any kind of colour
//! vision. Markers distinguish the series as well.

use std::fmt::Write as _;

use plotters::style::RGBColor;

/// The role of a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The ground.
    Surface,
    /// The text.
    Text,
    /// Ticks and notes.
    Muted,
    /// Grid lines.
    Grid,
    /// Lapwing.
    Own,
    /// A bar of a rival.
    Rival,
    /// Values that others published, from other machines.
    Reference,
    /// One of several lines or parts.
    Series(usize),
}

/// One colour in both shades, with the name of its custom property.
struct Shade {
    role: Role,
    name: &'static str,
    light: u32,
    dark: u32,
}

/// The number of different [`Role::Series`]. Higher numbers repeat.
pub(crate) const SERIES: usize = 7;

const SHADES: [Shade; 7 + SERIES] = [
    shade(Role::Surface, "surface", 0xff_ffff, 0x11_161d),
    shade(Role::Text, "text", 0x1c_2128, 0xe6_eaef),
    shade(Role::Muted, "muted", 0x57_606b, 0x9d_a7b3),
    shade(Role::Grid, "grid", 0xe3_e7ec, 0x2a_323c),
    shade(Role::Own, "own", 0x00_66b3, 0x5a_b4f5),
    shade(Role::Rival, "rival", 0xa9_b4c0, 0x66_7383),
    shade(Role::Reference, "reference", 0xcf_b53b, 0x9a_8532),
    shade(Role::Series(0), "series-1", 0xd5_5e00, 0xff_9145),
    shade(Role::Series(1), "series-2", 0x00_8f68, 0x2c_c99b),
    shade(Role::Series(2), "series-3", 0xb3_4d8c, 0xe8_9aca),
    shade(Role::Series(3), "series-4", 0xb0_8000, 0xe9_bd3c),
    shade(Role::Series(4), "series-5", 0x6a_4fb0, 0xb4_a0f2),
    shade(Role::Series(5), "series-6", 0x7a_5c44, 0xc8_a98d),
    shade(Role::Series(6), "series-7", 0x3d_8fa8, 0x86_d3e8),
];

const fn shade(role: Role, name: &'static str, light: u32, dark: u32) -> Shade {
    Shade { role, name, light, dark }
}

impl Role {
    /// Returns the colour to draw with.
    pub(crate) fn colour(self) -> RGBColor {
        let role = match self {
            Self::Series(number) => Self::Series(number % SERIES),
            other => other,
        };
        let shade = SHADES.iter().find(|shade| shade.role == role);
        let [_, red, green, blue] = shade.map_or(0, |shade| shade.light).to_be_bytes();
        RGBColor(red, green, blue)
    }
}

/// Returns the custom properties of both shades, and the rules that map drawn colours to them.
pub(crate) fn page_style() -> String {
    let declare = |value: fn(&Shade) -> u32| {
        SHADES.iter().fold(String::new(), |mut text, shade| {
            let _ = write!(text, "--{}:#{:06X};", shade.name, value(shade));
            text
        })
    };
    let light = declare(|shade| shade.light);
    let dark = declare(|shade| shade.dark);
    let rules = rules(".plot ", |shade| format!("var(--{})", shade.name));
    format!(
        ":root{{color-scheme:light dark;{light}}}\n\
         @media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n{rules}"
    )
}

/// Returns the style of a picture in a separate file: light, or dark if the reader prefers it.
pub(crate) fn file_style() -> String {
    let dark = rules("", |shade| format!("#{:06X}", shade.dark));
    format!("@media screen and (prefers-color-scheme:dark){{\n{dark}}}\n")
}

/// Returns one rule per colour, as fill and as stroke.
fn rules(scope: &str, value: impl Fn(&Shade) -> String) -> String {
    let mut text = String::new();
    for shade in &SHADES {
        let (light, value) = (shade.light, value(shade));
        for property in ["fill", "stroke"] {
            let _ = writeln!(text, "{scope}[{property}=\"#{light:06X}\"]{{{property}:{value}}}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_light_shade_occurs_once() {
        let lights = SHADES.iter().map(|shade| shade.light).collect::<BTreeSet<_>>();
        assert_eq!(lights.len(), SHADES.len());
    }

    /// Returns the relative luminance, as WCAG defines it.
    fn luminance(colour: u32) -> f64 {
        let [_, red, green, blue] = colour.to_be_bytes();
        let linear = |channel: u8| {
            let value = f64::from(channel) / 255.0;
            if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }

    fn contrast(one: u32, other: u32) -> f64 {
        let (one, other) = (luminance(one) + 0.05, luminance(other) + 0.05);
        one.max(other) / one.min(other)
    }

    #[test]
    fn text_and_lines_stand_out_on_either_ground() {
        let [ground, ..] = SHADES;
        for shade in SHADES {
            let least = match shade.role {
                Role::Text | Role::Muted => 4.5,
                Role::Own | Role::Series(_) => 3.0,
                _ => 1.0,
            };
            assert!(contrast(shade.light, ground.light) >= least, "light {}", shade.name);
            assert!(contrast(shade.dark, ground.dark) >= least, "dark {}", shade.name);
        }
    }
}
