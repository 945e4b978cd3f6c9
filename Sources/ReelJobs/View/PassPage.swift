package import ReelCore
internal import ReelQueue
internal import ReelStore

/// A pass as lists show it. Names only ever get added.
package struct JobPass: Codable, Hashable, Sendable {
    /// How far a pass is.
    package enum State: String, CaseIterable, Codable, Sendable {
        case waiting, live, retrying, exhausted, done
    }

    /// The pass's place in the plan.
    package var index: Int
    /// "video" or "audio".
    package var kind: String
    /// How far it is.
    package var state: State
    /// Its first frame of the source in presentation order, counted from 0; missing for anything but video.
    package var firstFrame: Int?
    /// The frame after its last; missing for anything but video.
    package var endFrame: Int?
    /// The id of the worker that holds it; missing if none does.
    package var worker: String?
    /// The frames that this worker has encoded so far.
    package var framesEncoded: Int?
    /// Failed attempts by cause.
    package var attempts: [String: Int]
}

/// A page of a job's passes, in the plan's order.
package struct PassPage: Codable, Hashable, Sendable {
    /// The passes.
    package var passes: [JobPass]
    /// The index at which the next page begins; missing if there is none.
    package var next: String?
}

extension JobService {
    /// How many passes are looked at for one page: a state that few are in must not keep a caller waiting.
    private static let passesOfAPage = 2000

    /// A page of a job's passes, in the plan's order. Throws `.jobUnknown` if the board does not have the job.
    ///
    /// - Parameters:
    ///   - state: only passes that are so far; nil for all.
    ///   - first: the index from which on passes are looked at.
    ///   - limit: the most passes of the page.
    package func passes(
        of id: JobID, in state: JobPass.State? = nil, from first: Int = 0, limit: Int
    ) async throws(ReelFailure) -> PassPage {
        guard let status = try await board.status(id) else { throw ReelFailure(.jobUnknown(job: id)) }
        let (job, count) = (status.job, status.job.passCount)
        let plan = count > 0 ? try? await store?.job(id).readPlan(job.plan) : nil
        var page = PassPage(passes: [], next: nil)
        var place = first
        while place < count, page.passes.count < limit, place - first < JobService.passesOfAPage {
            let range = place..<min(place + 200, count)
            guard let looks = try await board.passes(id, in: range) else { throw ReelFailure(.jobUnknown(job: id)) }
            for (index, look) in zip(range, looks) {
                guard page.passes.count < limit else { break }
                let known = plan.flatMap { $0.passes.indices.contains(index) ? $0.passes[index] : nil }
                let pass = JobPass(index, look, job.work(at: index) ?? .video, known)
                if state == nil || pass.state == state { page.passes.append(pass) }
                place = index + 1
            }
        }
        page.next = place < count ? String(place) : nil
        return page
    }
}

extension JobPass {
    fileprivate init(_ index: Int, _ look: PassLook, _ work: Work, _ pass: Pass?) {
        let state: State =
            if look.isFinished { .done } else if look.worker != nil { .live } else if look.isExhausted {
                .exhausted
            } else { look.isWaiting ? .retrying : .waiting }
        self.init(
            index: index, kind: work.rawValue, state: state, worker: look.worker?.text,
            framesEncoded: look.framesEncoded, attempts: look.attempts)
        if case .video(let video) = pass {
            (firstFrame, endFrame) = (video.frames.lowerBound, video.frames.upperBound)
        }
    }
}
