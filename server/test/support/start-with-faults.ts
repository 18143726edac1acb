import { start } from '../../src/start.ts'
import { faultyDriverTypes } from './faulty-sandbox.ts'

/** The service as `server/src/main.ts` starts it, with a sandbox that meets injected faults. */
start(faultyDriverTypes)
