import { type Profiler, Session } from 'node:inspector/promises'

/**
 * Counts the function calls of the service's code in a piece of work, callbacks included: a measure of the work that does not
 * depend on the machine. Loops without a call are not counted.
 */
export async function countSteps(work: () => unknown): Promise<number> {
  const session = new Session()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    await work()
    const { result } = await session.post('Profiler.takePreciseCoverage')
    return result.filter(({ url }) => url.includes('/server/src/')).reduce((sum, script) => sum + callsIn(script), 0)
  } finally {
    session.disconnect()
  }
}

function callsIn({ functions }: Profiler.ScriptCoverage): number {
  return functions.reduce((sum, { ranges }) => sum + (ranges[0]?.count ?? 0), 0)
}
