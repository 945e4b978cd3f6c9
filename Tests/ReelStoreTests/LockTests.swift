import Foundation
import ReelCore
import ReelStore
import ReelWords
import Testing

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
