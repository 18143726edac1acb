/** Whether it can name access at a receiver: printable, and short enough for an index. */
export function isEntitlementName(name: unknown): name is string {
  return typeof name === 'string' && /^[\x20-\x7e]{1,500}$/.test(name)
}
