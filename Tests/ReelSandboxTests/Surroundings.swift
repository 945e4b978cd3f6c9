import Foundation
import Glibc
import ReelCore
import ReelEngine

/// Programs beside the running test bundle.
enum ProbePrograms {
    static let engine: String = {
        let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: bundle).deletingLastPathComponent().path + "/reel-probe-engine"
    }()
}

/// What is around an engine: two jobs in a store, and sockets that listen.
final class Surroundings: Sendable {
    private let folder: String
    let tcp, udp, socket, abstract: Listener
    /// Unsafe because only another process reads it.
    private nonisolated(unsafe) let byte = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)

    init() throws {
        folder = "/tmp/reel-attack-\(UUID().uuidString.prefix(8))"
        for job in ["a", "b"] {
            try FileManager.default.createDirectory(
                atPath: "\(folder)/jobs/\(job)/segments", withIntermediateDirectories: true)
            for name in ["job.json", "segments/v0-240.nut", "source"] {
                try Data("secret".utf8).write(to: URL(filePath: "\(folder)/jobs/\(job)/\(name)"))
            }
        }
        tcp = try Listener(AF_INET, SOCK_STREAM.rawValue)
        udp = try Listener(AF_INET, SOCK_DGRAM.rawValue)
        socket = try Listener(path: folder + "/socket")
        abstract = try Listener(path: "@" + folder)
        byte.pointee = 1
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
        byte.deallocate()
    }

    /// Of a byte of this process.
    var address: UInt { UInt(bitPattern: byte) }

    var jobs: String { folder + "/jobs" }
    var job: String { jobs + "/a" }
    var record: String { job + "/job.json" }
    var source: String { job + "/source" }
    var segments: String { job + "/segments" }
    var other: String { jobs + "/b/segments/v0-240.nut" }

    /// What the engine of job a may reach.
    var scope: EngineScope {
        EngineScope(sources: [.file(source)], reads: [], folders: [.file(segments)], cpuSeconds: 60)
    }

    /// A shell command that answers as an engine does after an attack that succeeded.
    var succeeding: String {
        let event = EngineEvent.result(.recon(ReconResult(indexHash: "0")))
        let line = (try? JSONEncoder().encode(event)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        return "echo '\(line)'; read -r rest"
    }
}

/// A socket that listens.
final class Listener: Sendable {
    private let descriptor: Int32
    /// Of an Internet address.
    let port: UInt16
    /// Of a Unix socket; an abstract one begins with "@".
    let name: String

    init(_ family: Int32, _ type: UInt32) throws {
        let made = Glibc.socket(family, Int32(type), 0)
        descriptor = made
        var address = sockaddr_in()
        address.sin_family = sa_family_t(family)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(made, address, size) == 0 && getsockname(made, address, &size) == 0
            }
        }
        guard isBound, type == SOCK_DGRAM.rawValue || listen(descriptor, 8) == 0 else {
            throw CocoaError(.fileWriteUnknown)
        }
        port = UInt16(bigEndian: address.sin_port)
        name = ""
    }

    init(path: String) throws {
        let made = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        descriptor = made
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(path.utf8)
        if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let size = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(made, $0, size) == 0 }
        }
        guard isBound, listen(descriptor, 8) == 0 else { throw CocoaError(.fileWriteUnknown) }
        (port, name) = (0, path)
    }

    deinit { close(descriptor) }
}
