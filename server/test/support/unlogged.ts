import { openLog } from '../../src/log/log.ts'

/** For a server within a test: it logs nothing. */
export const unlogged = {
  log: openLog({ level: 'silent', format: 'json' }).log,
  version: { version: '0.0.0', commit: undefined },
}
