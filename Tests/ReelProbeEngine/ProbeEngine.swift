import CAttack
import Foundation
import Glibc
import ReelCore
import ReelEngine

/// An engine that a hostile file has taken over: it confines itself as the real one does, and each request for recon makes
/// it try an attack. The request's source names the attack and what it aims at, separated by tabs; the answer is errno,
/// 0 if the attack succeeds, in place of a hash.
@main
struct ProbeEngine {
    /// Known before the engine is confined.
    private static let isSessionItsOwn = getsid(0) == getpid()

    static func main() throws {
        _ = isSessionItsOwn
        guard case .confinement(let confinement)? = input() else { _exit(2) }
        do throws(ReelFailure) {
            let state = try confinement.enter()
            send(.ready(EngineIdentity(version: Wire.version, encoders: [], sandbox: state)))
        } catch {
            return send(.failure(error))
        }
        while case .request(.recon(let request))? = input() {
            let words = request.source.name.split(separator: "\t").map(String.init)
            if words == ["facts"] {
                send(.result(.recon(ReconResult(indexHash: facts))))
                continue
            }
            send(.result(.recon(ReconResult(indexHash: "\(attack(words[0], Array(words.dropFirst())))"))))
        }
    }

    private static func input() -> EngineInput? {
        readLine().flatMap { try? JSONDecoder().decode(EngineInput.self, from: Data($0.utf8)) }
    }

    private static func send(_ event: EngineEvent) {
        guard let line = try? JSONEncoder().encode(event) + [UInt8(ascii: "\n")] else { _exit(1) }
        _ = line.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }

    /// What the engine was born with and has kept: folder, whether the session is its own, limits, and its environment.
    private static var facts: String {
        let limits = [RLIMIT_CORE, RLIMIT_NOFILE, RLIMIT_CPU, RLIMIT_FSIZE].map { resource in
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(resource.rawValue), &limit)
            return "\(limit.rlim_max)"
        }
        let names = ProcessInfo.processInfo.environment.keys.sorted()
        return ([FileManager.default.currentDirectoryPath, "\(isSessionItsOwn)"] + limits + names)
            .joined(separator: " ")
    }

    private static func attack(_ name: String, _ aims: [String]) -> Int32 {
        let number = aims.first.flatMap { Int32($0) } ?? 0
        let parent = getppid()
        return switch (name, aims.count) {
        case ("read", 1): attack_read(aims[0])
        case ("list", 1): attack_list(aims[0])
        case ("write", 1): attack_write(aims[0])
        case ("link", 2): attack_link(aims[0], aims[1])
        case ("symlink", 2): attack_symlink(aims[0], aims[1])
        case ("rename", 2): attack_rename(aims[0], aims[1])
        case ("mode", 1): attack_mode(aims[0])
        case ("setuid", 1): attack_setuid(aims[0])
        case ("truncate", 1): attack_truncate(aims[0])
        case ("tcp", 1): attack_tcp(number)
        case ("udp", 1): attack_udp(number)
        case ("unix", 1): attack_unix(aims[0])
        case ("exec", 1): attack_exec(aims[0])
        case ("fork", 0): attack_fork()
        case ("outlive", 1): attack_outlive(open(aims[0], O_WRONLY))
        case ("trace", 0): attack_trace(parent)
        case ("memory", 1): attack_memory(parent, Int(aims[0]) ?? 0)
        case ("signal", 0): attack_signal(parent)
        case ("owner", 0): attack_owner(parent)
        case ("environ", 0): attack_read("/proc/\(parent)/environ")
        case ("mem", 0): attack_write("/proc/\(parent)/mem")
        case ("cmdline", 0): attack_read("/proc/\(parent)/cmdline")
        case ("code", 0): attack_code()
        case ("protect", 0): attack_protect()
        case ("namespace", 0): attack_namespace()
        case ("ring", 0): attack_ring()
        case ("key", 0): attack_key()
        case ("limit", 0): attack_limit()
        case ("threads", 1): attack_threads(number)
        case ("lock", 0): attack_lock()
        // What an engine does for its job, so that a confinement that forbids everything is noticed.
        case ("work", 2): work(aims[0], aims[1])
        default: -1
        }
    }

    private static func work(_ source: String, _ folder: String) -> Int32 {
        let file = folder + "/segment.nut"
        let steps = [
            attack_read(source), attack_write(file + ".part"), attack_rename(file + ".part", file), attack_read(file),
            attack_list(folder),
        ]
        return steps.first { $0 != 0 } ?? (unlink(file) == 0 ? 0 : errno)
    }
}
