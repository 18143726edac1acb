import { driverConformance } from '../../../test/conformance/driver-conformance.ts'
import { cuttingStage } from '../../../test/support/aws-stage.ts'
import { testDatabase } from '../../../test/support/database.ts'

const cutting = await cuttingStage(await testDatabase())
driverConformance('AWS IAM Identity Center, with sessions cut at the end,', () => Promise.resolve(cutting))
