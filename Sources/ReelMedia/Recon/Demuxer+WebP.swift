internal import ReelCore

extension Demuxer {
    /// Whether the file is an animated WebP. This demuxer returns it as one packet, which the decoder cannot show. The chunk VP8X
    /// has the flag (WebP Container Specification, Extended File Format).
    func isUnsplitWebP() throws(ReelFailure) -> Bool {
        guard formatName == "webp_pipe" else { return false }
        let head = try file.bytes(at: 0, 21)
        return head.count == 21 && head[12..<16].elementsEqual("VP8X".utf8) && head[20] & 2 != 0
    }
}
