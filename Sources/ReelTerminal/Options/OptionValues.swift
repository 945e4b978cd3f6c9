import ArgumentParser
package import ReelCore

extension AudioMode: ExpressibleByArgument {}
extension Container: ExpressibleByArgument {}
extension TimestampMode: ExpressibleByArgument {}
extension VerifyMode: ExpressibleByArgument {}
extension DamageMode: ExpressibleByArgument {}
extension Play: ExpressibleByArgument {}
extension Turn: ExpressibleByArgument {}
extension Trim: ExpressibleByArgument {}
extension Dither: ExpressibleByArgument {}
