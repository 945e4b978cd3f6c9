internal import Foundation
internal import ReelCore
internal import ReelQueue
package import ReelStore

extension JobStatus {
    /// What the submitter says of the job; nil if the board has nothing that can be read.
    var said: Submission? {
        submission.flatMap { try? JSONDecoder().decode(Submission.self, from: Data($0.utf8)) }
    }
}

extension Submission {
    /// As the board has it.
    var text: String {
        get throws(ReelFailure) {
            do { return try CanonicalJSON.text(of: self) } catch { throw .of(error) }
        }
    }

    /// Whether it says how the job is called.
    var isTelling: Bool { name != nil || !labels.isEmpty }
}

extension Submission {
    /// A submission by the user of this process.
    ///
    /// - Parameters:
    ///   - name: keeps the rule of `isText`.
    ///   - labels: keep the rules of `isLabelName` and `isText`.
    package static func byThisUser(name: String?, labels: [String: String]) -> Submission {
        let user = NSUserName()
        return Submission(
            name: name, labels: labels,
            submitter: (user.isEmpty ? "uid-\(getuid())" : user) + "@" + ProcessInfo.processInfo.hostName)
    }
}
