import { project } from '../vitest.shared.ts';

export default project('e2e', import.meta.url);
