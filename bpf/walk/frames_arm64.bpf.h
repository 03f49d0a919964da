/* bpf/walk/frames_arm64.bpf.h: arm64, as frames.bpf.h says: frames are not known. */
#pragma once

#define HS_FRAMES_KNOWN 0
#define HS_RETURN_BYTES 8

HS_FN int hs_built(struct hs_walk *w, const struct hs_code *c)
{
	return -1;
}

HS_FN int hs_making(struct hs_walk *w)
{
	return 0;
}

HS_FN int hs_is_call(__u64 before)
{
	return 0;
}

#define HS_HAS_PUSHED_FP(b) 0
