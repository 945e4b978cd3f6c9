package import Foundation
internal import ReelWords

/// A moment as users name one that lies back: a span of time before now ("2h"), a day ("2026-11-26"), or a time of a day
/// ("2026-11-26T18:30"), by the time zone of this machine.
package struct Moment: Hashable, Sendable {
    /// Seconds since 1970.
    package var seconds: Double

    /// Parses a moment. Nil for anything else, and for a day or time that does not exist.
    ///
    /// - Parameters:
    ///   - now: seconds since 1970, from which a span counts back.
    ///   - zone: the time zone of days and times.
    package init?(_ text: String, now: Double, in zone: TimeZone = .current) {
        if let span = TimeSpan(text) {
            seconds = now - Double(span.seconds)
            return
        }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = zone
        formatter.isLenient = false
        for format in ["yyyy-MM-dd", "yyyy-MM-dd'T'HH:mm", "yyyy-MM-dd'T'HH:mm:ss"]
        where text.count == Moment.length(format) {
            formatter.dateFormat = format
            guard let date = formatter.date(from: text), formatter.string(from: date) == text else { continue }
            seconds = date.timeIntervalSince1970
            return
        }
        return nil
    }

    private static func length(_ format: String) -> Int { format.count { $0 != "'" } }
}
