internal import ReelCore

extension Demuxer {
    /// Whether the file is an animated WebP that libavformat gives out as one packet, of which its decoder shows nothing. The flag
    /// is that of the chunk VP8X (WebP Container Specification, Extended File Format).
    func isUnsplitWebP() throws(ReelFailure) -> Bool {
        guard formatName == "webp_pipe" else { return false }
        let head = try file.bytes(at: 0, 21)
        return head.count == 21 && head[12..<16].elementsEqual("VP8X".utf8) && head[20] & 2 != 0
    }
}
