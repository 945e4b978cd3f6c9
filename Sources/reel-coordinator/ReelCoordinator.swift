internal import ArgumentParser
internal import Foundation
internal import ReelCore
internal import ReelHost
internal import ReelJobs
internal import ReelTerminal

let console = Console(name: "reel-coordinator") { Advice.text(for: $0) }

@main
struct ReelCoordinator: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reel-coordinator", abstract: "Reverses videos, frame by frame exact, on one machine or many.",
        discussion: HelpText.text(
            HelpText.examples(
                "reel-coordinator run clip.mp4",
                "reel-coordinator submit clip.mp4 --wait",
                "reel-coordinator queue --watch"),
            HelpText.environment(HelpText.Variable.allCases), HelpText.exitCodes, HelpText.completions),
        version: Release.version,
        subcommands: [
            RunCommand.self, UICommand.self, SubmitCommand.self, PlanCommand.self, StatusCommand.self,
            QueueCommand.self,
            WorkersCommand.self, WaitCommand.self, FetchCommand.self, VerifyCommand.self, CancelCommand.self,
            RetryCommand.self, PauseCommand.self, ResumeCommand.self, WeighCommand.self, RemoveCommand.self,
            DrainCommand.self, UndrainCommand.self, RecoverCommand.self, InitCommand.self,
        ])

    static func main() async {
        OwnProcess.prepare()
        let commands = configuration.subcommands.flatMap { command in
            [command.configuration.commandName].compactMap(\.self) + command.configuration.aliases
        }
        let arguments = Shorthand.expanded(Array(CommandLine.arguments.dropFirst()), commands: commands) {
            FileManager.default.fileExists(atPath: $0)
        }
        await console.run(self, arguments)
    }
}

/// A user's remedy, on this command line, for a failure or for a job that waits. The libraries say what is wrong and
/// where; they do not know options.
enum Advice {
    /// Nil if the failure's own words say it all.
    static func text(for reason: FailureReason) -> String? {
        switch reason {
        case .sourceIsPicture, .folderWithoutVideos:
            "numbered pictures become one video, bit for bit, by: ffmpeg -framerate 24 -i shot.%04d.png -codec copy shot.mkv"
        case .jobUnknown: "reel-coordinator status lists those there are"
        case .jobNotOnBoard: "reel-coordinator recover puts it back"
        case .jobNotEnded(let job, _): "reel-coordinator cancel \(job) ends it"
        case .jobGoesOn(let job): "reel-coordinator status \(job) tells how far it is, cancel \(job) ends it"
        case .noResult(let job, nil): "reel-coordinator status \(job) tells how far it is"
        case .outputExists: "--overwrite replaces it"
        case .outputIsSource, .outputNotAFile: "choose another name with -o"
        case .outputIsFolder: "run and submit take a folder with --output-dir"
        case .outputUnwritable(let path, let errno)
        where [EACCES, EPERM, EROFS].contains(errno) && !SubmittedEdit.isTimeline(path):
            "choose another folder with -o or --output-dir"
        case .localServerEnded(let said) where said.contains("Address already in use"): "--port names another port"
        case .storeHeld: "reel-coordinator ui takes another folder"
        case .workspaceUnusable, .workspaceForeign: "choose another place with -o"
        case .resultDiffers(let job, _, _, _, _, _):
            "reel-coordinator verify \(job) looks at the one in the store; if that differs, submit it again with --force"
        case .outputNotNamed("-"): "fetch -o - writes a result to standard output"
        case .outputNotNamed(let path) where path.hasSuffix("/") || FileManager.default.fileExists(atPath: path):
            "--output-dir names a folder"
        case .outputNotNamed: "name the output with -o"
        case .jobNotFailed(_, .cancelled): "submit it again"
        case .outputTwice: "--suffix, --container or --output-dir names outputs otherwise"
        case .encoderUnknown(.audioCodec, "copy", _): "--audio keep copies its packets, forwards"
        case .outputContainerDiffers(_, let container, _): "name a .\(container.rawValue) file with -o"
        case .editFlawed(_, _, .notTaken): "--lenient leaves it out"
        case .rangeTooShort: "choose another --rewind"
        case .rangeEmpty, .nothingInRange: "choose another --from, --to, --duration or --rewind"
        case .memoryTooSmall: "--memory and --memory-total say how much"
        case .encoderUnknown(let option, _, _), .codecNotHeld(let option, _, _), .valueUnsupported(let option, _, _, _):
            "choose with --\(option.rawValue.hyphenated)"
        case .optionUnsupported(let option, _), .copyWithOption(let option), .optionNotOfContainer(let option, _),
            .losslessCodecFixed(let option, _, _):
            "leave out --\(option.rawValue.hyphenated)"
        case .sizeIndivisible: "--size and --pixel-format say so"
        case .sizeTooLarge: "--size says so"
        case .losslessNotHeld, .framesTooClose, .pictureTooLong, .framesUneven, .frameRateNotHeld:
            "name such a file with -o"
        case .noSoundHeld, .soundOutOfReach: "--audio none leaves the sound out"
        case .sourceRateUnsupported: "give --bitrate a rate"
        case .rawNotGivenBack(_, _, let lossless): lossless ? "or leave out --lossless" : nil
        case .copyImpossible, .copyNotGivenBack: "without --video-codec copy the video is encoded again"
        case .videoDamaged: "--on-damage repeat goes on with what decodes"
        case .outOfMemory, .passOutOfMemory: "--memory gives a pass more"
        case .indexDamaged: "submit the job again with --force"
        case .folderUnwritable: "name another folder with --scratch, or with TMPDIR"
        case .workerUnknown: "reel-coordinator workers lists those there are"
        case .redisRefused(_, let said, _) where said.hasPrefix("OOM"):
            "give it more memory: redis-cli config set maxmemory 2gb"
        case .redisUnusable(let last):
            last.cause == .transient
                ? "start redis-server there, or name another with --redis or REEL_REDIS"
                : "name user and password with --redis or REEL_REDIS"
        case .runStopped(let last): text(for: last.reason)
        default: Console.usualAdvice(for: reason)
        }
    }

    static func text(for reason: WaitReason) -> String? {
        switch reason {
        case .paused: "reel-coordinator resume lets it go on"
        case .noWorker: "start reel-worker with the same --redis and --store"
        case .draining: "reel-coordinator undrain lets them claim again"
        default: nil
        }
    }
}
