import { flushCompileCache } from 'node:module'

/**
 * Loaded before a service that a test starts. Node writes its cache of compiled modules when a process ends by itself; most of
 * these are killed, so that each would compile a thousand modules again. Their options give them a cache apart from the workers'.
 */
const afterMs = 3_000
setTimeout(flushCompileCache, afterMs).unref()
