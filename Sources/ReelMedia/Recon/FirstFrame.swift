internal import CFFmpeg
internal import ReelCore

/// The first frame that decodes. It gives facts that some codecs state nowhere else, and shows whether anything decodes
/// at all.
final class FirstFrame {
    private let decoder: Decoder
    let frame: Frame
    /// The packet, counted in the order of the file, whose frame is shown first; nil while nothing has decoded.
    private(set) var packetNumber: Int?
    private(set) var isFound = false
    private var fed = 0

    /// The most packets that are tried if the start is damaged.
    private static let patience = 300

    init(stream: UnsafeMutablePointer<AVStream>, path: String) throws(ReelFailure) {
        decoder = try Decoder(stream: stream, threads: 1, path: path)
        frame = try Frame()
    }

    /// Whether more packets would help.
    var needsMore: Bool { !isFound && fed < Self.patience }

    /// Decodes the next packet of the file. Its presentation time is overwritten with the packet's number, which the
    /// decoder passes on to the frame.
    func feed(_ packet: borrowing Packet) throws(ReelFailure) {
        packet.pts = Timestamp(Int64(fed))
        fed += 1
        _ = try decoder.send(packet)
        try receive()
    }

    /// Signals the end of the stream. Throws `.input` if nothing of it decoded.
    func finish(path: String) throws(ReelFailure) {
        guard needsMore else { return }
        try decoder.drain()
        try receive()
        guard isFound else {
            throw ReelFailure(.nothingDecodes(path: path))
        }
    }

    private func receive() throws(ReelFailure) {
        guard !isFound, try decoder.receive(into: frame) == .frame else { return }
        isFound = true
        packetNumber = (frame.pts ?? frame.bestTimestamp).map { Int($0.ticks) }
    }
}
