package import ReelCore
internal import ReelJobs

/// What of a watched snapshot the screen shows: a part of its lines, a list in some order, or one job of it.
package struct ScreenView: Equatable {
    /// The job of the list that is shown alone; nil for the list, or for what is watched.
    package private(set) var opened: JobID?
    private var list = JobList()
    private var place = ScrollPlace()
    /// Where the list was when a job was opened.
    private var listPlace = ScrollPlace()

    /// The top of the list, in the board's order.
    package init() {}

    /// Does what a key says. Of a list, keys that move choose a job.
    package mutating func heed(_ key: Keyboard.Key, of snapshot: Snapshot, on canvas: Canvas) {
        guard let rows = canvas.rows else { return }
        guard let jobs = snapshot.jobs else {
            if key == .back, opened != nil {
                (opened, place) = (nil, listPlace)
            } else {
                place.heed(key, count: snapshot.lines(canvas.endless).count, rows: rows)
            }
            return
        }
        let ids = list.sorted(jobs).map(\.id)
        if let step = ScrollPlace.step(key, page: max(rows / 4, 1), count: ids.count) {
            list.move(step, among: ids)
        } else if key == .sort {
            list.order = list.order.next
        } else if key == .open, let chosen = list.chosen, ids.contains(chosen) {
            (opened, listPlace, place) = (JobID(chosen), place, ScrollPlace())
        }
        let lines = snapshot.lines(canvas.endless, as: list)
        if let line = lines.firstIndex(where: \.isChosen) { place.reveal(line, rows: rows) }
    }

    /// The lines of a snapshot that the screen has to show.
    package func lines(of snapshot: Snapshot, on canvas: Canvas) -> [ScreenLine] {
        place.first == 0
            ? snapshot.lines(canvas, as: list) : Array(snapshot.lines(canvas.endless, as: list).dropFirst(place.first))
    }
}
