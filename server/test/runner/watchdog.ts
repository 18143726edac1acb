import { text } from 'node:stream/consumers'
import { endRemains } from './remains.ts'

/**
 * Runs beside a test run and ends its remaining processes if the run itself was killed: its standard input closes when the run
 * ends, whatever the cause. It reads the run's folder from there; as an argument the folder would mark this process as part of
 * the run.
 */
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => undefined)
const folder = await text(process.stdin)
if (folder !== '') await endRemains(folder)
