/** Where an answer may change with the duration, read from the text of a rule: for searches, which evaluate what they find. */

/** A rule that spells an attribute with an escape may read any. */
const durationOrEscape = /\bduration_seconds\b|\\/

/** Whether the answer may change with the duration, even where the rule names no number. */
export function readsDuration(policy_text: string): boolean {
  return durationOrEscape.test(policy_text)
}

/** The numbers that the rule names, each with its neighbours, in seconds; none where it does not read the duration. */
export function durationsNamedIn(policy_text: string): number[] {
  if (!readsDuration(policy_text)) return []
  return (policy_text.match(/\d+/g) ?? []).map(Number).flatMap((number) => [number - 1, number, number + 1])
}
