import { text } from 'node:stream/consumers'
import { endRemains } from './remains.ts'

/**
 * Stands beside a run of tests and ends what is left of it when the run itself was killed: its standard input closes with
 * the run, whatever ended that. It reads the run's folder there; as an argument that would name this process too.
 */
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => undefined)
const folder = await text(process.stdin)
if (folder !== '') await endRemains(folder)
