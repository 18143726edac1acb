import type { SourceType } from '../source.ts'
import { findConfigFaults, readSettings } from './ldap-config.ts'
import { readDirectory } from './read-directory.ts'

/** Directories over LDAP (RFC 4511): OpenLDAP, 389 Directory Server, Active Directory. */
export const ldapSource: SourceType = {
  findFaults: findConfigFaults,
  open(config, egress) {
    const settings = readSettings(config)
    return (what, signal) => readDirectory(settings, egress, what, signal)
  },
}
