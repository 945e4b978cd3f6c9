internal import ReelCore

extension Plan {
    /// Bytes of address space, and hardly of memory, that the stacks of a decoder's and an encoder's threads take beside
    /// what a pass needs.
    var stacks: Int64 { Int64(video.threads + mostEncoderThreads) * 8 << 20 }
}
