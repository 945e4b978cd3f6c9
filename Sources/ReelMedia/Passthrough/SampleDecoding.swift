internal import CFFmpeg
internal import Dispatch
internal import Foundation
internal import ReelCore
internal import Synchronization

/// Decodes packets, each with a decoder that has seen no other, while the next ones are read. It may still do so when
/// reading has failed and the file is closed. `@unchecked` because nothing but the result changes, which is behind a lock.
final class SampleDecoding: @unchecked Sendable {
    typealias Fault = (packet: Int, time: Rational?, fault: PacketFault)

    private struct Found {
        /// The fault of the first packet that does not show a progressive frame by itself.
        var fault: Fault?
        var failure: ReelFailure?
    }

    private let stream: CodedStream
    private let path: String
    private let found = Mutex(Found())
    private let threads = WorkQueue(threads: ProcessInfo.processInfo.activeProcessorCount)
    private let room = DispatchSemaphore(value: ProcessInfo.processInfo.activeProcessorCount)

    init(stream: CodedStream, path: String) {
        self.stream = stream
        self.path = path
    }

    /// Queues a packet for decoding; `time` is its own, in seconds, for the report of a fault.
    func add(_ packet: borrowing Packet, number: Int, time: Rational?) throws(ReelFailure) {
        let sample = try Sample(packet)
        room.wait()
        threads.add { [self] in
            look(at: sample, number, time)
            room.signal()
        }
    }

    /// The fault of the first faulty packet, once all are decoded; nil if there is none.
    func finish() throws(ReelFailure) -> Fault? {
        threads.wait()
        return try found.withLock { (found) throws(ReelFailure) in
            if let failure = found.failure { throw failure }
            return found.fault
        }
    }

    private func look(at sample: Sample, _ number: Int, _ time: Rational?) {
        do throws(ReelFailure) {
            guard let fault = try fault(of: sample.packet) else { return }
            found.withLock { found in
                if number < found.fault?.packet ?? .max { found.fault = (number, time, fault) }
            }
        } catch {
            found.withLock { $0.failure = error }
        }
    }

    private func fault(of packet: borrowing Packet) throws(ReelFailure) -> PacketFault? {
        guard let frame = try Decoder.decodingAlone(packet, of: stream, path: path) else {
            return .dependent
        }
        return reel_frame_is_interlaced(frame.native) != 0 ? .interlaced : nil
    }
}

/// A packet passed to another thread. `@unchecked` because only that thread uses it then.
private final class Sample: @unchecked Sendable {
    let packet: Packet

    init(_ packet: borrowing Packet) throws(ReelFailure) {
        self.packet = try Packet()
        try check(av_packet_ref(self.packet.native, packet.native), .makePacket)
    }
}
