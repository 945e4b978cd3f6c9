/// The size of pixels, derived from the name of the pixel format as FFmpeg spells it.
struct PictureLayout {
    /// Bytes per pixel, averaged over all planes.
    let bytesPerPixel: Double
    /// The same without the transparency.
    let opaqueBytesPerPixel: Double
    /// Whether pixels have a transparency.
    let hasAlpha: Bool
    /// Whether the samples are red, green and blue, or places in a palette of such.
    let isRGB: Bool

    init(_ pixelFormat: String) {
        isRGB = ["rgb", "bgr", "gbr", "argb", "abgr", "0rgb", "0bgr", "pal8"].contains { pixelFormat.hasPrefix($0) }
        let samples: Double =
            if pixelFormat.hasPrefix("gray") || pixelFormat.hasPrefix("mono") || pixelFormat == "pal8" {
                1
            } else if pixelFormat.contains("420") || pixelFormat.hasPrefix("nv") || pixelFormat.hasPrefix("p01") {
                1.5
            } else if pixelFormat.contains("422") || pixelFormat.contains("440") {
                2
            } else {
                3
            }
        hasAlpha = ["yuva", "gbrap", "rgba", "bgra", "argb", "abgr", "ya"].contains { pixelFormat.hasPrefix($0) }
        let isWide = ["9", "10", "12", "14", "16", "48", "64"].contains { depth in
            ["", "le", "be"].contains { pixelFormat.hasSuffix(depth + $0) }
        }
        let bytesPerSample: Double = pixelFormat.contains("f32") ? 4 : isWide ? 2 : 1
        opaqueBytesPerPixel = samples * bytesPerSample
        bytesPerPixel = opaqueBytesPerPixel + (hasAlpha ? bytesPerSample : 0)
    }
}
