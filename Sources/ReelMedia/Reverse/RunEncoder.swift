internal import CFFmpeg
internal import ReelCore

/// Encodes one run, handed in from its last frame to its first, into a segment.
final class RunEncoder {
    /// A run of a pass, and its place there.
    let run: (number: Int, frames: Range<Int>)
    private let destination: PassReverser.Destination
    private let timeBase: TimeBase
    private let encoder: Encoder
    private let writer: SegmentWriter
    private let packet: Packet

    init(
        _ run: (number: Int, frames: Range<Int>), of track: VideoTrack, as video: VideoTarget,
        into destination: PassReverser.Destination
    ) throws(ReelFailure) {
        self.run = run
        self.destination = destination
        timeBase = track.stream.timeBase
        encoder = try Encoder(video, track: track, frames: run.frames)
        guard encoder.extradataHash == video.identity.extradataHash else {
            throw ReelFailure(
                .job, "this host's \(encoder.name) makes other parameters than the one the job was planned with",
                cause: .incompatible)
        }
        writer = try SegmentWriter(
            folder: destination.folder, name: "\(destination.pass).\(run.number).\(destination.token).nut",
            timeBase: timeBase, describe: encoder.describe)
        packet = try Packet()
    }

    func add(_ picture: borrowing Frame) throws(ReelFailure) {
        try encoder.send(picture)
        try writePackets()
    }

    /// Takes what the encoder still holds.
    func drain() throws(ReelFailure) {
        try encoder.finish()
        try writePackets()
    }

    /// Closes the segment; from now on it is whole. `warnings` are what went wrong with its frames.
    func finish(_ warnings: [String]) throws(ReelFailure) -> SegmentRecord {
        guard writer.packetCount == run.frames.count else {
            throw ReelFailure(.job, "\(encoder.name) made \(writer.packetCount) packets of \(run.frames.count) frames")
        }
        return try writer.finish(
            SegmentRecord(
                name: "", pass: destination.pass, run: run.number, frames: run.frames.count, packets: 0, bytes: 0,
                checksum: "", timeBase: timeBase, reorderDepth: 0, extradataHash: encoder.extradataHash,
                warnings: warnings))
    }

    private func writePackets() throws(ReelFailure) {
        while try encoder.receive(into: packet) { try writer.write(packet) }
    }
}
