// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {SplitRouter} from "../../src/SplitRouter.sol";
import {ICommissionEscrowErrors} from "../../src/interfaces/ICommissionEscrowErrors.sol";
import {ISplitRouterErrors} from "../../src/interfaces/ISplitRouterErrors.sol";
import {RouterTest} from "../base/RouterTest.sol";

contract TakeBackDepositTest is RouterTest {
    bytes32 private constant TX_HASH = keccak256("transfer");

    SplitRouter.Charge private charge;

    function setUp() public override {
        super.setUp();
        transferToRouter(buyer, PRICE);
        charge = signCharge(buyer, TX_HASH, PRICE, buyerAgentId);
    }

    function test_succeeds_whenThePayerSigned() public {
        bytes32 nonce = router.chargeNonce(TX_HASH);
        vm.expectEmit(address(router));
        emit SplitRouter.PaymentRefunded(buyer.addr, nonce, PRICE);
        takeBackDeposit();
        assertBalance(buyer.addr, FUNDS, "buyer");
        assertBalance(address(router), 0, "router");
        assertTrue(router.refunded(buyer.addr, nonce));
    }

    function test_reverts_whenTakenBackTwice() public {
        takeBackDeposit();
        transferToRouter(walletBuyer, PRICE);
        vm.expectRevert(
            abi.encodeWithSelector(
                ISplitRouterErrors.PaymentAlreadyRefunded.selector, buyer.addr, router.chargeNonce(TX_HASH)
            )
        );
        takeBackDeposit();
        assertBalance(buyer.addr, FUNDS, "buyer");
    }

    function test_reverts_whenSplit() public {
        SplitRouter.Attribution memory attributed = attribution();
        vm.prank(settler);
        router.splitDeposit(charge, attributed);
        transferToRouter(walletBuyer, PRICE);
        vm.expectRevert(
            abi.encodeWithSelector(
                ICommissionEscrowErrors.PaymentAlreadySplit.selector, buyer.addr, router.chargeNonce(TX_HASH), 1
            )
        );
        takeBackDeposit();
        assertBalance(buyer.addr, FUNDS - PRICE, "buyer");
    }

    function test_reverts_whenThePayerDidNotSign() public {
        charge.signature = sign(reviewer, chargeDigest(charge, buyerAgentId));
        vm.expectRevert(abi.encodeWithSelector(ISplitRouterErrors.InvalidSignature.selector, buyer.addr));
        takeBackDeposit();
    }

    function test_reverts_whenAnotherPayerIsNamed() public {
        charge.payer = walletBuyer.addr;
        vm.expectRevert(abi.encodeWithSelector(ISplitRouterErrors.InvalidSignature.selector, walletBuyer.addr));
        takeBackDeposit();
    }

    function test_reverts_whenMoreIsClaimedThanLiesThere() public {
        charge.value = PRICE + 1;
        vm.expectRevert(abi.encodeWithSelector(ISplitRouterErrors.NotEnoughUnsplit.selector, PRICE + 1, PRICE));
        takeBackDeposit();
    }

    function test_reverts_whenTheEscrowIsPaused() public {
        vm.prank(guardian);
        escrow.pause();
        vm.expectRevert(abi.encodeWithSelector(Pausable.EnforcedPause.selector));
        takeBackDeposit();
        assertBalance(address(router), PRICE, "router");
    }

    function test_reverts_whenThePermissionIsNotASettlers() public {
        bytes memory permission = signPermission(buyer, buyer.addr, router.chargeNonce(TX_HASH), PRICE, 0);
        vm.expectRevert(abi.encodeWithSelector(ISplitRouterErrors.NotPermitted.selector, buyer.addr));
        router.takeBackDeposit(charge, buyerAgentId, 0, permission);
    }

    function test_reverts_beforeThePermissionHolds() public {
        uint256 notBefore = block.timestamp + 1;
        bytes memory permission =
            signPermission(settlerWallet, buyer.addr, router.chargeNonce(TX_HASH), PRICE, notBefore);
        vm.expectRevert(
            abi.encodeWithSelector(ISplitRouterErrors.TakeBackTooEarly.selector, notBefore, block.timestamp)
        );
        router.takeBackDeposit(charge, buyerAgentId, notBefore, permission);
    }

    function takeBackDeposit() private {
        takeBackDeposit(charge, buyerAgentId);
    }
}
