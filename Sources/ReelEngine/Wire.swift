/// The engine's wire protocol: one request as a JSON line on standard input, events as JSON lines on standard output
/// until `result` or `failure`, then the next request. Large data does not travel in lines, which name where it is.
package enum Wire {
    /// Grows with every change that an older worker or engine would misread.
    package static let version = 10
}
