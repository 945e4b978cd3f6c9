import Foundation
import Glibc
import ReelCore
import ReelStore
import Testing

/// `.reel` beside an output, in a folder that other users may write in.
@Suite("The folder in which a run works")
struct WorkspaceTests {
    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test("It is closed to other users, even if it was readable")
    func mode() throws {
        try withFolder { folder throws in
            #expect(try Workspace.beside(folder + "/out.mp4").path == folder + "/.reel")
            #expect(try mode(folder + "/.reel") == 0o700)
            chmod(folder + "/.reel", 0o755)
            #expect(try Workspace.beside(folder + "/out.mp4").path == folder + "/.reel")
            #expect(try mode(folder + "/.reel") == 0o700)
        }
    }

    @Test("A folder that others may write in, or a link, is not used, and without a second one there is no workspace")
    func foreign() throws {
        try withFolder { folder throws in
            mkdir(folder + "/.reel", 0o777)
            chmod(folder + "/.reel", 0o777)
            let own = "\(folder)/.reel-\(geteuid())"
            #expect(try Workspace.beside(folder + "/out.mp4").path == own)
            #expect(try mode(own) == 0o700)
            // What an earlier run left there is found again when the first name is free.
            rmdir(folder + "/.reel")
            #expect(try Workspace.beside(folder + "/out.mp4").path == own)
            rmdir(own)
            for name in [folder + "/.reel", own] { symlink("/tmp", name) }
            let failure = #expect(throws: ReelFailure.self) { try Workspace.beside(folder + "/out.mp4") }
            #expect(failure?.reason == .workspaceForeign(path: own))
            #expect(failure?.exitCode == 5)
        }
    }

    @Test("What is delivered comes from the folder that was checked, and is this user's own file")
    func swapped() throws {
        try withFolder { folder throws in
            let workspace = try Workspace.beside(folder + "/out.mp4")
            let result = DeliveryTests.result(workspace.path + "/output.mp4")
            func deliver() throws {
                try Delivery.move(result, outOf: workspace, to: folder + "/out.mp4", overwrite: true)
            }
            try write("secret", folder + "/secret")
            chmod(folder + "/secret", 0o600)
            for place in [symlink, link] {
                _ = place(folder + "/secret", result.locator.name)
                #expect(throws: ReelFailure.self) { try deliver() }
                #expect(try mode(folder + "/secret") == 0o600)
                unlink(result.locator.name)
            }
            try write("video", result.locator.name)
            // Another has taken the name, and offers a file of this user's.
            rename(workspace.path, folder + "/aside")
            mkdir(workspace.path, 0o777)
            rename(folder + "/secret", result.locator.name)
            try deliver()
            #expect(try text(folder + "/out.mp4") == "video")
            #expect(try mode(result.locator.name) == 0o600)
        }
    }
}
