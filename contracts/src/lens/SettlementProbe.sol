// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title Tells what calls of an account would do
/// @notice Never deployed: `eth_call` puts this code at the account's address by a state override, so that the calls come from that
/// account. Has neither storage nor immutables, which such an override would not bring along.
contract SettlementProbe {
    /// @param gas The most it may burn; 0 is all there is
    struct Call {
        address target;
        uint256 gas;
        bytes data;
    }

    /// @param gasUsed Before refunds, which are no help against a gas limit
    /// @param data What it returned or reverted with, cut after `MAX_DATA` bytes
    struct Outcome {
        bool ok;
        uint256 gasUsed;
        bytes data;
    }

    /// @notice Without a bound, a call could make the caller pay for the memory of a long answer.
    uint256 public constant MAX_DATA = 4_096;

    /// @dev What a call needs beside its own gas: copying its data, touching an account for the first time, and the answer to the caller.
    uint256 private constant CALL_OVERHEAD = 30_000;

    /// @notice Makes the calls one after the other, each seeing what those before it did.
    /// @param wallets Accounts of which is asked whether they have code
    /// @return timestamp Of the block
    /// @return haveCode Of the wallets
    /// @return outcomes Of all calls, or of the first ones: it stops at a call that could not get its gas
    function together(Call[] calldata calls, address[] calldata wallets)
        external
        returns (uint256 timestamp, bool[] memory haveCode, Outcome[] memory outcomes)
    {
        (timestamp, haveCode, outcomes) =
        (block.timestamp, new bool[](wallets.length), new Outcome[](calls.length));
        for (uint256 i = 0; i < wallets.length; ++i) {
            haveCode[i] = wallets[i].code.length != 0;
        }
        for (uint256 i = 0; i < calls.length; ++i) {
            if (!_canGive(calls[i].gas)) {
                assembly ("memory-safe") {
                    mstore(outcomes, i)
                }
                break;
            }
            outcomes[i] = _make(calls[i]);
        }
    }

    /// @dev The EVM silently gives less than is asked for where a 64th would not remain, and a good call would look bad.
    function _canGive(uint256 gas) private view returns (bool) {
        return gas == 0 || gasleft() >= gas + gas / 63 + CALL_OVERHEAD;
    }

    function _make(Call calldata call) private returns (Outcome memory outcome) {
        address target = call.target;
        uint256 allowed = call.gas == 0 ? type(uint256).max : call.gas;
        bytes memory input = call.data;
        bool ok;
        uint256 size;
        uint256 gasBefore = gasleft();
        assembly ("memory-safe") {
            ok := call(allowed, target, 0, add(input, 0x20), mload(input), 0, 0)
            size := returndatasize()
        }
        uint256 gasUsed = gasBefore - gasleft();
        if (size > MAX_DATA) size = MAX_DATA;
        bytes memory data = new bytes(size);
        assembly ("memory-safe") {
            returndatacopy(add(data, 0x20), 0, size)
        }
        return Outcome(ok, gasUsed, data);
    }
}
