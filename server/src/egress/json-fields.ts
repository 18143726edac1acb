/** The fields of an external answer; undefined when it is no JSON object, or not declared as JSON. */
export function jsonFieldsOf(text: string, headers: Headers): Record<string, unknown> | undefined {
  if (!/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(headers.get('content-type') ?? '')) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}
