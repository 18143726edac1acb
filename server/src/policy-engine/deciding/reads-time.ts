/** A rule can read the time only by one of these names, or by a name that is written with escapes. */
export function mayMindTime(policy_text: string): boolean {
  return /\b(?:now|weekday|minute)\b|\\/.test(policy_text)
}
