import { driverConformance } from '../../../test/conformance/driver-conformance.ts'
import { testDatabase } from '../../../test/support/database.ts'
import { faultySandboxStage, sandboxStage } from '../../../test/support/sandbox-stage.ts'

const db = await testDatabase()
driverConformance('the sandbox', () => sandboxStage(db))
driverConformance('the sandbox that meets injected faults', () => faultySandboxStage(db))
