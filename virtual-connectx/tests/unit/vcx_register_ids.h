/* Numbers of registers (mlx5's MLX5_REG_*). */
#ifndef VCX_TEST_REGISTER_IDS_H
#define VCX_TEST_REGISTER_IDS_H

enum {
    QPTS = 0x4002,
    QETCR = 0x4005,
    QTCT = 0x400a,
    QPDPM = 0x4013,
    QCAM = 0x4019,
    DCBX_PARAM = 0x4020,
    ROCE_ACCL = 0x402c,
    PCAP = 0x5001,
    PMLP = 0x5002,
    PMTU = 0x5003,
    PTYS = 0x5004,
    PAOS = 0x5006,
    PFCC = 0x5007,
    PPCNT = 0x5008,
    PPTB = 0x500b,
    PBMC = 0x500c,
    PVLC = 0x500f,
    PMAOS = 0x5012,
    PPLM = 0x5023,
    PDDR = 0x5031,
    PCMR = 0x5041,
    PCAM = 0x507f,
    NODE_DESC = 0x6001,
    HOST_ENDIANNESS = 0x7004,
    MCIA = 0x9014,
    MFRL = 0x9028,
    MLCR = 0x902b,
    MRTC = 0x902d,
    MPEIN = 0x9050,
    MPCNT = 0x9051,
    MCQS = 0x9060,
    MCQI = 0x9061,
    MCAM = 0x907f,
    SBPR = 0xb001,
    SBCM = 0xb002,
    SBCAM = 0xb01f,
};

#endif
