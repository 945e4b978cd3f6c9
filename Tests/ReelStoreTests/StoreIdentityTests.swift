import Foundation
import Glibc
import ReelCore
import ReelStore
import ReelWords
import Testing

@Suite("Identity of a store")
struct StoreIdentityTests {
    private func refusal(_ root: String) -> FailureReason? {
        do {
            _ = try FolderStore(root: root)
            return nil
        } catch {
            #expect(error.exitCode == 4)
            return error.reason
        }
    }

    @Test("A store keeps its id; opening makes nothing")
    func identity() throws {
        try withFolder { folder throws in
            let root = folder + "/store"
            #expect(refusal(root) == .storeMissing(path: root))
            #expect(try names(folder).isEmpty)
            let id = try #require(try FolderStore.make(root: root).id)
            #expect(id.text.count == 16)
            #expect(try FolderStore(root: root).id == id)
            #expect(try FolderStore.make(root: root).id == id)
            #expect(try text(root + "/store.json") == #"{"id":"\#(id)","version":1}"#)
            #expect(try FolderStore.make(root: folder + "/other").id != id)
        }
    }

    @Test("An empty folder is no store yet, and any other folder without an id is refused, whatever is in it")
    func kinds() throws {
        try withFolder { folder throws in
            #expect(try FolderStore(root: folder).id == nil)
            #expect(try names(folder).isEmpty)
            try write("mine", folder + "/file")
            #expect(refusal(folder) == .storeMissing(path: folder))
            #expect(refusal(folder + "/file") == .storeMissing(path: folder + "/file"))
            mkdir(folder + "/jobs", 0o777)
            #expect(refusal(folder) == .storeMissing(path: folder))
            try write(#"{"version":2}"#, folder + "/store.json")
            #expect(refusal(folder) == .storeOfOtherVersion(path: folder, found: 2, known: 1))
        }
    }

    @Test("While a store is away, nothing is made in its place")
    func away() throws {
        try withFolder { folder throws in
            let root = folder + "/store"
            let store = try FolderStore.make(root: root)
            try FileManager.default.moveItem(atPath: root, toPath: folder + "/away")
            // The file system is not mounted: its place is missing, or an empty folder.
            for hasPlace in [false, true] {
                if hasPlace { mkdir(root, 0o777) }
                let failures = [
                    try #require(throws: ReelFailure.self) { try store.job(JobID("0123456789abcdef")).engineFolders() },
                    try #require(throws: ReelFailure.self) { try store.source(fingerprint).indexFolder() },
                    try #require(throws: ReelFailure.self) {
                        try store.source(fingerprint).disprove(ReelFailure(.storeMissing(path: "")))
                    },
                ]
                #expect(failures.allSatisfy { $0.reason == .storeMissing(path: root) }, "\(failures)")
                #expect(try names(folder) == (hasPlace ? ["away", "store"] : ["away"]))
            }
            #expect(try names(root).isEmpty)
        }
    }

    @Test("Processes that make a store at the same time make one")
    func atOnce() async throws {
        let folder = NSTemporaryDirectory() + "reel-store-tests-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let ids = try await withThrowingTaskGroup(of: StoreID?.self) { group in
            for _ in 0..<8 { group.addTask { try FolderStore.make(root: folder).id } }
            return try await group.reduce(into: Set<StoreID?>()) { $0.insert($1) }
        }
        #expect(ids.count == 1 && !ids.contains(nil))
    }
}

@Suite("Locking a job", .timeLimit(.minutes(10)))
struct LockTests {
    @Test("A job is locked once, until its holder lets go")
    func once() throws {
        try withFolder { folder in
            let job = try FolderStore.make(root: folder).job(JobID("a1"))
            do {
                let lock = try job.lock()
                let failure = #expect(throws: ReelFailure.self) { try job.lock() }
                #expect(failure?.exitCode == 4)
                let host = ProcessInfo.processInfo.hostName
                #expect(failure?.reason == .jobHeld(path: job.path, pid: Int(getpid()), host: host))
                #expect(failure?.words.contains("pid \(getpid()) on \(host)") == true)
                withExtendedLifetime(lock) {}
            }
            let again = try job.lock()
            withExtendedLifetime(again) {}
        }
    }

    @Test("Another process keeps the job until it ends, and is named")
    func otherProcess() throws {
        try withFolder { folder in
            let job = try FolderStore.make(root: folder).job(JobID("a1"))
            try job.create()
            let holder = Process()
            holder.executableURL = URL(filePath: "/usr/bin/env")
            holder.arguments = [
                "flock", job.path + "/lock", "sh", "-c",
                "echo '4711 elsewhere' > '\(job.path)/lock'; echo held; read -r end",
            ]
            let (input, output) = (Pipe(), Pipe())
            holder.standardInput = input
            holder.standardOutput = output
            try holder.run()
            #expect(output.fileHandleForReading.readData(ofLength: 5) == Data("held\n".utf8))
            let failure = #expect(throws: ReelFailure.self) { try job.lock() }
            #expect(failure?.reason == .jobHeld(path: job.path, pid: 4711, host: "elsewhere"))
            try input.fileHandleForWriting.close()
            holder.waitUntilExit()
            let lock = try job.lock()
            #expect(try text(job.path + "/lock").hasPrefix("\(getpid()) "))
            withExtendedLifetime(lock) {}
        }
    }

    @Test("A folder that its holder removed is locked afresh")
    func removed() throws {
        try withFolder { folder in
            let job = try FolderStore.make(root: folder).job(JobID("a1"))
            let old = try job.lock()
            try job.remove()
            let new = try job.lock()
            #expect(throws: ReelFailure.self) { try job.lock() }
            withExtendedLifetime((old, new)) {}
        }
    }
}
