import { after } from 'node:test'
import { driverConformance } from '../../../test/conformance/driver-conformance.ts'
import { letManageLogins, postgresqlStage, setUpByGuide } from '../../../test/support/postgresql-stage.ts'
import { startTargetPostgres, targetVersions } from '../../../test/support/target-postgres.ts'

if (targetVersions.includes(15)) {
  const server = await startTargetPostgres(15)
  after(server.stop)

  driverConformance('PostgreSQL 15, with unmanaged logins,', async () => {
    await setUpByGuide(server)
    return postgresqlStage(server, false)
  })

  driverConformance('PostgreSQL 15, with managed logins,', async () => {
    await letManageLogins(server)
    return postgresqlStage(server, true)
  })
}
