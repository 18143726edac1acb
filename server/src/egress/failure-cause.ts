/** Why no answer came, without attached details: it may be stored and shown. */
export function failureCause(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'it did not answer in time'
  if (!(error instanceof Error)) return 'the call failed'
  const { code } = error as NodeJS.ErrnoException
  return code === undefined ? error.message.slice(0, 300) : `network error ${code}`
}
