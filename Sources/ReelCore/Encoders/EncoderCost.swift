/// What an encoder costs: memory, and time compared with decoding. Measured with FFmpeg 5.1.9 on pictures of 320×240 to
/// 3840×2160 in 8 and 10 bits, peak resident memory of the process less what it has without an encoder, and rounded up.
///
/// memory = constant + pixels · (perPixel + pictures · bytes of a pixel) · scale · (1 + perThread · (threads − 1)), and
/// more if threads look ahead, or each has something of its own.
struct EncoderCost {
    var constant: Int64 = 4 << 20
    var constantPerThread = 0.0
    var perPixel: Double
    var pictures: Double
    var scale = 1.0
    var perThread = 0.08
    /// From so many pixels on it holds fewer pictures: 0.7 of them.
    var holdsFewerFrom = Double.infinity
    /// Time to encode a frame, where decoding one of H.264 takes 1. Too small only means fewer passes.
    var weight: Double
    /// A second thread of x264 looks ahead, whatever the preset: that holds three times the pictures that each thread
    /// then encodes.
    var looksAhead = false
    /// For each thread, the part of the memory that is allocated beside it, and bytes of stacks.
    var untouched = 0.0
    var stacks: Int64 = 8 << 20

    /// Of an encoder that nothing is known of.
    static let ofUnknown = EncoderCost(perPixel: 40, pictures: 20, weight: 2)

    /// Bytes a pixel.
    fileprivate func heldByThreads(_ threads: Int, _ bytesPerPixel: Double) -> Double {
        looksAhead && threads > 1 ? (15.5 + 8.6 * bytesPerPixel) * Double(threads + 1) / 3 : 0
    }
}

/// What the encoder of a target takes.
package struct EncoderNeeds {
    /// Bytes that the encoder takes, its frames included.
    package let memory: Int64
    /// Bytes of address space beside them: stacks of its threads, and what it allocates and hardly touches.
    package let reserved: Int64
    /// `EncoderCost.weight`.
    package let weight: Double

    package init(_ video: VideoTarget) {
        let cost = video.traits.cost(video.options.last { $0.name == "preset" }?.value)
        let pixels = Double(video.format.width) * Double(video.format.height)
        let largePictures = pixels > cost.holdsFewerFrom ? 0.7 : 1
        let further = Double(video.threads - 1)
        let threads = 1 + cost.perThread * further
        let bytesPerPixel = PictureLayout(video.format.pixelFormat).bytesPerPixel
        let variable = pixels * (cost.perPixel + cost.pictures * bytesPerPixel) * cost.scale * largePictures * threads
        let held = cost.heldByThreads(video.threads, bytesPerPixel) * pixels + cost.constantPerThread * further
        memory = cost.constant + Int64(min(variable + held, 0x1p60))
        reserved =
            Int64(min(Double(memory) * cost.untouched * Double(video.threads), 0x1p60))
            + Int64(video.threads) * cost.stacks
        weight = cost.weight
    }
}
