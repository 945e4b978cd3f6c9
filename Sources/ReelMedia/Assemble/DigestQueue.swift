internal import BasicContainers
internal import CFFmpeg
internal import Dispatch
internal import ReelCore

/// Takes packets into checksums on a thread of its own, while the next ones are read or written.
final class DigestQueue {
    private let thread = DispatchQueue(label: "reel.digest")
    /// For the batch at work and the one after it.
    private let room = DispatchSemaphore(value: 2)
    private var batch = Batch()

    /// Takes in a packet's payload as it is now, in order.
    func add(_ packet: borrowing Packet, to digest: PayloadDigest) throws(ReelFailure) {
        try batch.add(packet, to: digest)
        if batch.isFull { send() }
    }

    /// Returns when the checksums hold all that was added.
    func finish() {
        send()
        thread.sync {}
    }

    private func send() {
        let full = batch
        batch = Batch()
        room.wait()
        thread.async { [room] in
            full.digest()
            room.signal()
        }
    }
}

/// Packets on their way into checksums: small ones many at a time, since changing threads costs as much as thousands of
/// bytes. `@unchecked` because nobody touches a batch, or its checksums before the queue has finished, once it was sent.
private final class Batch: @unchecked Sendable {
    private var packets = UniqueArray<Packet>()
    private var digests: [PayloadDigest] = []
    private var bytes = 0

    var isFull: Bool { bytes >= 1 << 20 }

    func add(_ packet: borrowing Packet, to digest: PayloadDigest) throws(ReelFailure) {
        let shared = try Packet()
        try check(av_packet_ref(shared.native, packet.native), .makePacket)
        bytes += packet.size + 1024
        packets.append(shared)
        digests.append(digest)
    }

    func digest() {
        for (place, digest) in digests.enumerated() { digest.add(packets[place]) }
        packets.removeAll()
    }
}
