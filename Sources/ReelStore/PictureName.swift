/// The name of a picture of a job, made for people. What it shows never changes: it names the index or the plan that it
/// was made by.
package struct PictureName: Hashable, Sendable {
    /// As the store has it.
    package let text: String

    /// A frame of a source, or this many frames of it side by side if `frame` is nil.
    ///
    /// - Parameters:
    ///   - index: SHA-256 of the source's index, in hexadecimal.
    ///   - frame: counted from 0, in presentation order.
    package init(sourceOf index: String, frame: Int?) {
        text = "source-\(index.prefix(16))-\(frame.map(String.init) ?? "filmstrip").jpg"
    }

    /// A frame of an output.
    ///
    /// - Parameter plan: the number of the job's plan.
    package init(outputOf plan: Int, frame: Int) { text = "output-\(plan)-\(frame).jpg" }

    /// Frames of an output side by side.
    ///
    /// - Parameters:
    ///   - plan: the number of the job's plan.
    ///   - isThere: for each place of the filmstrip, whether it shows a frame.
    package init(outputOf plan: Int, filmstrip isThere: [Bool]) {
        text = "output-\(plan)-filmstrip-\(isThere.map { $0 ? "1" : "0" }.joined()).jpg"
    }
}
