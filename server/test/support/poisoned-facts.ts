/** Texts that an attacker can put into any text field of a message's facts. */
export const hostileTexts = [
  '<img src=x onerror=alert(1)><script>alert(1)</script></td></table><h1>Approved</h1>',
  '"><a href="https://evil.example">Open it</a>',
  '[Open it](javascript:alert(1)) **bold** <https://evil.example>',
  'javascript:alert(1)',
  "=cmd|' /C calc'!A0",
  'ok\r\nBcc: everybody@example.com\r\n\r\n-- \nOpen it (opening it decides nothing):\nhttps://evil.example',
  'nul \u0000 \u001b[31mred\u0085\u2028\u2029',
  '\u202egnp.exe\u2066\u200f',
  `a${' long'.repeat(2_000)}`,
]

/** Characters that change the direction of text or end its line. */
export const forgingMarks = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/u

/** Facts that Sallyport writes, not users: those that choose the wording, moments, and links, which are checked before. */
const ours = new Set([
  ...['at', 'zone', 'status', 'approval_mode', 'resource_type', 'subject_type', 'drift', 'way', 'change', 'fields'],
  ...[
    'waits_until',
    'expires_at',
    'extended_until',
    'used_at',
    'extension',
    'asked_at',
    'until',
    'provisioning_status',
    'url',
  ],
])

/** The facts with every user-written text replaced; also in records keyed by id, such as names. */
export function poisoned<Facts>(facts: Facts, poison: string): Facts {
  const walk = (value: unknown, key: string): unknown => {
    if (typeof value === 'string') return ours.has(key) ? value : poison
    if (Array.isArray(value)) return value.map((one) => walk(one, key))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, walk(one, name)]))
  }
  return walk(facts, '') as Facts
}
