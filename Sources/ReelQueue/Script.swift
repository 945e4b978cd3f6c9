/// The board's transitions, each one Lua script in `Scripts/`; see its header for keys, arguments and reply.
enum Script: CaseIterable {
    case open, publish, restore, claim, beat, complete, fail, release, reap, cancel, pause, retry, forget, audit, tally
    case status, strip, workers

    /// What Redis loads: the words that all scripts share, then the script.
    var source: String {
        String(decoding: PackageResources.board_lua + own, as: UTF8.self)
    }

    private var own: [UInt8] {
        switch self {
        case .open: PackageResources.open_lua
        case .publish: PackageResources.publish_lua
        case .claim: PackageResources.claim_lua
        case .beat: PackageResources.beat_lua
        case .complete: PackageResources.complete_lua
        case .fail: PackageResources.fail_lua
        case .release: PackageResources.release_lua
        case .reap: PackageResources.reap_lua
        case .cancel: PackageResources.cancel_lua
        case .forget: PackageResources.forget_lua
        case .restore: PackageResources.restore_lua
        case .pause: PackageResources.pause_lua
        case .retry: PackageResources.retry_lua
        case .audit: PackageResources.audit_lua
        case .tally: PackageResources.tally_lua
        case .strip: PackageResources.strip_lua
        case .status: PackageResources.status_lua
        case .workers: PackageResources.workers_lua
        }
    }
}
