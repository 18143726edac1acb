import { after } from 'node:test'
import { driverConformance } from '../../../test/conformance/driver-conformance.ts'
import { letManageLogins, postgresqlStage, setUpByGuide } from '../../../test/support/postgresql-stage.ts'
import { startTargetPostgres } from '../../../test/support/target-postgres.ts'

const server = await startTargetPostgres(18)
after(server.stop)

driverConformance('PostgreSQL 18, with unmanaged logins,', async () => {
  await setUpByGuide(server)
  return postgresqlStage(server, false)
})

driverConformance('PostgreSQL 18, with managed logins,', async () => {
  await letManageLogins(server)
  return postgresqlStage(server, true)
})
