import { ownPlace } from '../../src/console/place.ts'
import { start } from '../../src/start.ts'
import { faultyDriverTypes } from './faulty-sandbox.ts'

/**
 * The service as `server/src/main.ts` starts it, with a sandbox that meets injected faults. `CONSOLE_BUILDS`: a folder of the test's own
 * for builds of the console.
 */
const { CONSOLE_BUILDS: builds } = process.env
start(faultyDriverTypes, builds === undefined ? undefined : { ...ownPlace(), builds })
