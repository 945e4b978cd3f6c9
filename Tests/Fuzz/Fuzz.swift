import FoundationEssentials
import ReelCore
import ReelEngine
import ReelStore

/// Where libFuzzer hands over the inputs that it makes up: the first byte says who reads the rest. Whatever they hold, they
/// are refused, or what is read can be worked with; a trap ends the program.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 0 else { return 0 }
    let bytes = Array(UnsafeBufferPointer(start: start, count: count).dropFirst())
    switch start[0] {
    case UInt8(ascii: "i"): readIndex(bytes)
    case UInt8(ascii: "p"): readPlan(bytes)
    case UInt8(ascii: "r"): readResult(bytes)
    case UInt8(ascii: "j"): _ = try? CanonicalJSON.value(JobRecord.self, from: bytes)
    case UInt8(ascii: "e"): _ = try? JSONDecoder().decode(EngineEvent.self, from: Data(bytes))
    case UInt8(ascii: "s"): _ = SegmentName(String(decoding: bytes, as: UTF8.self)).map { $0.text }
    default: return -1
    }
    return 0
}

private func readIndex(_ bytes: [UInt8]) {
    guard let index = try? SourceIndex(decoding: bytes) else { return }
    let frames = index.video.frames
    guard let last = frames.last else { return }
    let timeline = Timeline(
        timeBase: TimeBase(1, 90_000), mode: .mirror, frames: 0..<frames.count, end: last.interval.end)
    for frame in timeline.frames.prefix(100) { _ = timeline.interval(of: frame, in: index.video) }
}

private func readPlan(_ bytes: [UInt8]) {
    guard let plan = try? Plan.decoded(from: bytes) else { return }
    _ = (plan.reservedAddresses, plan.mostEncoderThreads)
    for case .video(let pass) in plan.passes where pass.runCount < 1 << 16 { _ = pass.runs.count }
}

private func readResult(_ bytes: [UInt8]) {
    guard let result = try? CanonicalJSON.value(PassResult.self, from: bytes) else { return }
    for record in result.segments { _ = record.timeBase.seconds(Timestamp(record.start)) }
    _ = result.segments.reduce(Int64(0)) { $0 + min($1.bytes, 1 << 40) }
}
