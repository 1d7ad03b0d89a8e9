import { project } from '../../vitest.shared.ts';

export default project('backend-memory', import.meta.url);
