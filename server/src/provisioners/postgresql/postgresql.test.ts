import { after } from 'node:test'
import { driverConformance } from '../../../test/conformance/driver-conformance.ts'
import { letManageLogins, postgresqlStage, setUpByGuide } from '../../../test/support/postgresql-stage.ts'
import { startTargetPostgres } from '../../../test/support/target-postgres.ts'

const server = await startTargetPostgres(18)
after(server.stop)

driverConformance("PostgreSQL 18, where logins are the people's own,", async () => {
  await setUpByGuide(server)
  return postgresqlStage(server, false)
})

driverConformance('PostgreSQL 18, where logins are opened and shut,', async () => {
  await letManageLogins(server)
  return postgresqlStage(server, true)
})
