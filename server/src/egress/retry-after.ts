const minMs = 1_000

/** Milliseconds to wait by the header `Retry-After`, at least a second; undefined without a valid header. */
export function retryAfterMs(headers: Headers, now: Date): number | undefined {
  const text = headers.get('retry-after')?.trim() ?? ''
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now.getTime()
  return Number.isFinite(ms) ? Math.max(ms, minMs) : undefined
}
